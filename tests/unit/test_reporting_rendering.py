"""Marked text becomes LaTeX and HTML."""

import pytest

from gblsr_repro.reporting import rendering


@pytest.mark.parametrize(
    ("marked", "latex"),
    [
        ("1,121,539", "1{,}121{,}539"),
        ("kodak, 24", "kodak, 24"),
        ("**−0.0059** ± 1", r"\textbf{$-$0.0059}\,$\pm$\,1"),
        ("+2.835 nf96+noLE", "$+$2.835 nf96+noLE"),
        ("5% of a_b & *c* | d", r"5\% of a\_b \& \textit{c} $|$ d"),
        ("Łódź, 中", "Łódź, U+4E2D"),  # the code of a letter that would cost the whole PDF
        ("<https://a.b/c/>", r"\texttt{https://\allowbreak a.\allowbreak b/\allowbreak c/}"),
    ],
)
def test_text_becomes_latex(marked, latex):
    assert rendering.convert_to_latex(marked) == latex


def test_text_becomes_html():
    assert rendering.convert_to_html("**a<b** <https://x.y/z>") == (
        '<strong>a&lt;b</strong> <a href="https://x.y/z">https://x.y/z</a>'
    )
