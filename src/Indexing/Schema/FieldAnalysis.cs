namespace Treepie.Indexing.Schema;

/// <summary>How the text of a field becomes terms.</summary>
public enum FieldAnalysis
{
    /// <summary>The whole value, folded to lower case (simple Unicode folding): equality ignores case.</summary>
    LowerCaseKeyword,

    /// <summary>The whole value as it is.</summary>
    Keyword,

    /// <summary>The terms of an analyzer that the field names; frequencies and lengths are kept. By default words in full Unicode folding.</summary>
    FullText,
}
