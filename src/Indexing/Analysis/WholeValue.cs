using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Analysis;

/// <summary>Computes the single term of a value in a field that is not full text.</summary>
internal static class WholeValue
{
    /// <summary>
    /// Returns the stored form of the term; valid until the buffers are used again. <paramref name="cutScratch"/> must hold
    /// <see cref="TermForm.CutBytes"/>.
    /// </summary>
    public static ReadOnlySpan<byte> Of(
        FieldAnalysis analysis, ReadOnlySpan<byte> text, TokenBuffer buffer, Span<byte> cutScratch) =>
        TermForm.Of(Normalize(analysis, text, buffer), cutScratch);

    /// <summary>Returns the whole term, however long; valid until the buffer is used again.</summary>
    public static ReadOnlySpan<byte> Normalize(FieldAnalysis analysis, ReadOnlySpan<byte> text, TokenBuffer buffer) =>
        analysis == FieldAnalysis.Keyword ? text : KeywordAnalyzer.Fold(text, buffer);
}
