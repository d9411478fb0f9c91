using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Terms as they stand in dictionaries, for people.</summary>
internal static class TermText
{
    /// <summary>The text of a term; one that was cut when it was indexed shows its first bytes and an ellipsis.</summary>
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
