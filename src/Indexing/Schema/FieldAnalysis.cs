namespace Treepie.Indexing.Schema;

/// <summary>How the text of a field is converted to terms.</summary>
public enum FieldAnalysis
{
    /// <summary>The whole value, converted to lower case (simple Unicode case folding): equality is case-insensitive.</summary>
    LowerCaseKeyword,

    /// <summary>The whole value, unchanged: equality is case-sensitive.</summary>
    Keyword,

    /// <summary>
    /// The terms of the field's analyzer, with frequencies and lengths. By default words, with full Unicode case folding.
    /// </summary>
    FullText,

    /// <summary>
    /// Points and shapes on the earth, see <c>IndexBatch.AddPoint</c> and <c>AddShape</c>. The field has no terms, numbers or
    /// sort values.
    /// </summary>
    Spatial,

    /// <summary>
    /// Vectors, compared as specified by <see cref="IndexField.Vector"/>. The field has no terms, numbers or sort values.
    /// </summary>
    Vector,
}
