namespace Treepie.Storage.Format;

/// <summary>
/// The page, the unit of everything in the data file. All numbers are little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 own page number, to detect misdirected reads and writes
///      8    8 birth: first transaction of the batch that made this page; parents repeat it, so an old version is detected
///     16    4 tree id (0: none; 1: the catalogue; 2: the system tree)
///     20    1 type (see PageType)
///     21    1 level: 0 for leaves, one more for each level of branches above
///     22    2 number of entries
///     24    2 start of the heap: cells lie between here and the end of the page
///     26    2 bytes of the heap that belong to removed cells
///     28    2 offset of the key prefix that all entries of the page share
///     30    2 length of the prefix
///     32    4 length of the value (first page of an overflow run), otherwise 0
///     36    4 CRC-32C of the page (of an overflow run: of header and value), with this field as 0
///     40   16 tag: of AES-256-GCM; of HMAC-SHA-256 (first 16 bytes) for meta and bitmap pages; 0 if not encrypted
///     56    8 incarnation of the key that encrypts it; 0 if not encrypted, and in meta and bitmap pages
/// </code>
/// </summary>
internal static class PageLayout
{
    public const int SizeBytes = 8192;
    public const int HeaderBytes = 64;
    public const int ContentBytes = SizeBytes - HeaderBytes;

    public const int NumberOffset = 0;
    public const int BirthOffset = 8;
    public const int TreeIdOffset = 16;
    public const int TypeOffset = 20;
    public const int LevelOffset = 21;
    public const int CountOffset = 22;
    public const int HeapStartOffset = 24;
    public const int GarbageOffset = 26;
    public const int PrefixOffsetOffset = 28;
    public const int PrefixLengthOffset = 30;
    public const int ValueLengthOffset = 32;
    public const int ChecksumOffset = 36;
    public const int TagOffset = 40;
    public const int IncarnationOffset = 56;

    /// <summary>Returns the number of pages of an overflow run: one header, then the value without gaps.</summary>
    public static int RunPages(int valueBytes) => (int)(((long)HeaderBytes + valueBytes + SizeBytes - 1) / SizeBytes);
}
