"""The two bounds of the experiment on gradients and weights, as the page shows them."""

from reports.pages.mathml import mathml

_BAR = '<mo stretchy="false">‖</mo>'
_FIRST = "<mrow><mi>t</mi><mo>=</mo><mn>1</mn></mrow>"
_PRODUCT = f"<munderover><mo>∏</mo>{_FIRST}<mi>N</mi></munderover>"
LEMMA = mathml(
    f"{_BAR}<mo>∇</mo><msub><mi>p</mi><mi>T</mi></msub><mo>−</mo>"
    f"<mo>∇</mo><msubsup><mi>p</mi><mi>T</mi><mi>k</mi></msubsup>{_BAR}<mo>≤</mo>"
    "<msub><mi>ε</mi><mi>k</mi></msub><mo>=</mo>"
    "<msup><mi>λ</mi><mi>k</mi></msup><msub><mi>G</mi><mn>0</mn></msub><mo>+</mo>"
    "<mi>k</mi><msup><mi>λ</mi><mrow><mi>k</mi><mo>−</mo><mn>1</mn></mrow></msup>"
    "<msub><mi>D</mi><mn>1</mn></msub>",
    "‖∇p_T − ∇p_T^k‖ ≤ ε_k = λ^k G_0 + k λ^(k−1) D_1",
)
PROPOSITION = mathml(
    f"{_BAR}<msub><mi>w</mi><mrow><mi>N</mi><mo>+</mo><mn>1</mn></mrow></msub><mo>−</mo>"
    f"<msub><mover><mi>w</mi><mo>^</mo></mover><mrow><mi>N</mi><mo>+</mo><mn>1</mn></mrow></msub>"
    f"{_BAR}<mo>≤</mo><mfrac><msub><mi>ε</mi><mi>k</mi></msub><mi>β</mi></mfrac>"
    f"<mrow><mo>(</mo>{_PRODUCT}<mrow><mo>(</mo><mn>1</mn><mo>+</mo>"
    "<msub><mi>α</mi><mi>t</mi></msub><mi>β</mi><mo>)</mo></mrow><mo>−</mo><mn>1</mn>"
    "<mo>)</mo></mrow>",
    "‖w_(N+1) − ŵ_(N+1)‖ ≤ (ε_k/β) (∏ (1 + α_t β) − 1)",
)
