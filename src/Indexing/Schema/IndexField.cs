namespace Treepie.Indexing.Schema;

/// <summary>
/// One field of an index. Numbers and sort values are stored for all fields except <see cref="FieldAnalysis.FullText"/> ones.
/// </summary>
/// <param name="Name">The name, case-sensitive.</param>
/// <param name="Analysis">How text is converted to terms.</param>
/// <param name="Analyzer">The name of the analyzer of a full-text field. Null: the default. See <c>AnalyzerSet</c> for the
/// names.</param>
/// <param name="Vector">How the vectors of a vector field are stored and compared. Null: the defaults.</param>
public sealed record IndexField(
    string Name, FieldAnalysis Analysis = FieldAnalysis.LowerCaseKeyword, string? Analyzer = null,
    VectorFieldOptions? Vector = null)
{
    /// <summary>
    /// The factor, greater than 0, by which the scores of a full-text field's words are multiplied, in addition to boosts of the
    /// query.
    /// </summary>
    public float Boost { get; init; } = 1;
}
