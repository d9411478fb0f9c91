namespace Treepie.Indexing.Postings;

/// <summary>How the entries of one window are held, in a page and in a running query alike.</summary>
internal enum WindowSetForm
{
    /// <summary>None.</summary>
    Empty,

    /// <summary>Ascending 16-bit offsets.</summary>
    List,

    /// <summary>A bitmap of 4,096 bits.</summary>
    Bits,

    /// <summary>All 4,096.</summary>
    Full,
}
