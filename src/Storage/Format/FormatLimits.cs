namespace Treepie.Storage.Format;

/// <summary>File names and limits of the file format.</summary>
internal static class FormatLimits
{
    public const string DataFileName = "data.treepie";
    public const string NewDataFileName = "data.treepie.new";
    public const string LockFileName = "lock.treepie";
    public const string SpillFileName = "spill.treepie";
    public const string JournalPrefix = "journal-";
    public const string JournalSuffix = ".treepie";

    /// <summary>
    /// The maximum size of a cell with its key and value. Any two cells fit into a page, and a full page can always be split.
    /// </summary>
    public const int MaxCellBytes = 4000;

    /// <summary>The first page available to trees. Pages 0 and 1 are meta pages.</summary>
    public const long FirstDataPage = 2;

    /// <summary>Values up to this length are stored in the cell, longer ones in an overflow run.</summary>
    public const int MaxInlineValueBytes = 2048;

    /// <summary>The maximum length of a key.</summary>
    public const int MaxKeyBytes = 2000;

    /// <summary>
    /// The maximum length of a value: with its page header and the frame around it, it must fit into one array and one span.
    /// </summary>
    public const int MaxValueBytes = int.MaxValue - 65536;

    /// <summary>The number of pages covered by one bitmap page: one bit each, after the header.</summary>
    public const int PagesPerBitmap = PageLayout.ContentBytes * 8;
}
