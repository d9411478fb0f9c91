namespace Treepie.Storage.Format;

/// <summary>
/// The page, the unit of everything in the data file. All numbers are little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 own page number: a page found elsewhere was misdirected
///      8    8 birth: first transaction of the batch that made this page; parents repeat it, so an old page in its place is noticed
///     16    4 tree id (0: none; 1: the catalogue; 2: the system tree)
///     20    1 type (see PageType)
///     21    1 level: 0 for leaves, one more for each level of branches above
///     22    2 entries
///     24    2 start of the heap: cells lie between here and the page's end
///     26    2 bytes of the heap that belong to removed cells
///     28    2 offset of the prefix all keys of the page share
///     30    2 its length
///     32    4 bytes of the value (first page of an overflow run), else 0
///     36    4 CRC-32C of the page (of an overflow run: of header and value), this field taken as 0
///     40   16 tag: of AES-256-GCM, for meta and bitmap pages of HMAC-SHA-256 (its first 16 bytes); 0 where not encrypted
///     56    8 incarnation of the key it is sealed with; 0 where not encrypted, and in meta and bitmap pages
///     64      content
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

    /// <summary>Pages of an overflow run: one header, then the value without gaps.</summary>
    public static int RunPages(int valueBytes) => (int)(((long)HeaderBytes + valueBytes + SizeBytes - 1) / SizeBytes);
}
