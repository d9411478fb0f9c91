namespace Treepie.Indexing.Schema;

/// <summary>
/// One field of an index. Numbers and sort values are kept for every field except <see cref="FieldAnalysis.FullText"/> ones.
/// </summary>
/// <param name="Name">Case-sensitive name.</param>
/// <param name="Analysis">How text becomes terms.</param>
/// <param name="Analyzer">Name of the analyzer of a full-text field; null: the default. See <c>AnalyzerSet</c> for the
/// names.</param>
/// <param name="Vector">How the vectors of a vector field are kept and compared; null: the defaults.</param>
public sealed record IndexField(
    string Name, FieldAnalysis Analysis = FieldAnalysis.LowerCaseKeyword, string? Analyzer = null,
    VectorFieldOptions? Vector = null)
{
    /// <summary>
    /// What the scores of a full-text field's words are multiplied with, also within boosts of the query; greater than 0.
    /// </summary>
    public float Boost { get; init; } = 1;
}
