using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Analysis;

/// <summary>The one term of a value in a field that is not full text.</summary>
internal static class WholeValue
{
    /// <summary>
    /// The stored form; lives until the buffers are used again. <paramref name="cutScratch"/> holds
    /// <see cref="TermForm.CutBytes"/>.
    /// </summary>
    public static ReadOnlySpan<byte> Of(
        FieldAnalysis analysis, ReadOnlySpan<byte> text, TokenBuffer buffer, Span<byte> cutScratch) =>
        TermForm.Of(Normalize(analysis, text, buffer), cutScratch);

    /// <summary>The whole term, however long; lives until the buffer is used again.</summary>
    public static ReadOnlySpan<byte> Normalize(FieldAnalysis analysis, ReadOnlySpan<byte> text, TokenBuffer buffer) =>
        analysis == FieldAnalysis.Keyword ? text : KeywordAnalyzer.Fold(text, buffer);
}
