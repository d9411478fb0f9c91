namespace Treepie.Storage.Format;

/// <summary>Names of the files and bounds of what they hold.</summary>
internal static class FormatLimits
{
    public const string DataFileName = "data.treepie";
    public const string NewDataFileName = "data.treepie.new";
    public const string LockFileName = "lock.treepie";
    public const string SpillFileName = "spill.treepie";
    public const string JournalPrefix = "journal-";
    public const string JournalSuffix = ".treepie";

    /// <summary>
    /// A key and its value lie together in a cell of at most this: any two fit into a page, and a full page can always be split
    /// in two.
    /// </summary>
    public const int MaxCellBytes = 4000;

    /// <summary>The first pages that trees may use: 0 and 1 are meta pages.</summary>
    public const long FirstDataPage = 2;

    /// <summary>Values up to this many bytes lie beside their key, longer ones in a run of pages of their own.</summary>
    public const int MaxInlineValueBytes = 2048;

    /// <summary>Longest key.</summary>
    public const int MaxKeyBytes = 2000;

    /// <summary>Longest value: one span, with header and frame around it in one array.</summary>
    public const int MaxValueBytes = int.MaxValue - 65536;

    /// <summary>Pages one bitmap page speaks of: a bit for each, after the header.</summary>
    public const int PagesPerBitmap = PageLayout.ContentBytes * 8;
}
