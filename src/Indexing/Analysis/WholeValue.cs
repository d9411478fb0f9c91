using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Analysis;

/// <summary>The one term of a value in a field that is not full text.</summary>
internal static class WholeValue
{
    /// <summary>The stored form; lives until the buffers are used again. <paramref name="cutScratch"/> holds <see cref="TermForm.CutBytes"/>.</summary>
    public static ReadOnlySpan<byte> Of(FieldAnalysis analysis, ReadOnlySpan<byte> text, TokenBuffer buffer, Span<byte> cutScratch) =>
        TermForm.Of(analysis == FieldAnalysis.Keyword ? text : KeywordAnalyzer.Fold(text, buffer), cutScratch);
}
