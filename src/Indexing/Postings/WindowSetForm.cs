namespace Treepie.Indexing.Postings;

/// <summary>How the entries of one window are represented, in pages and in running queries.</summary>
internal enum WindowSetForm
{
    /// <summary>None.</summary>
    Empty,

    /// <summary>Ascending 16-bit offsets.</summary>
    List,

    /// <summary>A bitmap of 4,096 bits.</summary>
    Bits,

    /// <summary>All 4,096 entries.</summary>
    Full,
}
