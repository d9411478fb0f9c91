using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Formats dictionary terms for display.</summary>
internal static class TermText
{
    /// <summary>Returns the text of a term. A truncated term is shown as its head and an ellipsis.</summary>
    public static string Of(ReadOnlySpan<byte> form, bool isNumber)
    {
        if (isNumber)
        {
            Span<byte> text = stackalloc byte[32];
            return Encoding.ASCII.GetString(text[..NumberKey.Format(form, text)]);
        }

        return TermForm.IsCut(form) ? Encoding.UTF8.GetString(form[..TermForm.HeadBytes]) + "…" : Encoding.UTF8.GetString(form);
    }
}
