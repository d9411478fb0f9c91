namespace Treepie.Indexing.Schema;

/// <summary>How the text of a field becomes terms.</summary>
public enum FieldAnalysis
{
    /// <summary>The whole value, folded to lower case (simple Unicode folding): equality ignores case.</summary>
    LowerCaseKeyword,

    /// <summary>The whole value as it is.</summary>
    Keyword,

    /// <summary>
    /// The terms of an analyzer that the field names; frequencies and lengths are kept. By default words in full Unicode folding.
    /// </summary>
    FullText,

    /// <summary>
    /// Places and shapes on the earth, see <c>IndexBatch.AddPoint</c> and <c>AddShape</c>. It has no terms, no numbers and no
    /// sort values.
    /// </summary>
    Spatial,

    /// <summary>
    /// Vectors, compared as <see cref="IndexField.Vector"/> says. It has no terms, no numbers and no sort values.
    /// </summary>
    Vector,
}
