using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Format;

/// <summary>
/// The payload of a frame: the state after its transactions, and the pages that changed.
/// <code>
/// OFFSET SIZE MEANING
///      0   32 record of the catalogue tree after the commit
///     32    4 next tree id
///     36    4 number of changed pages
///     40    8 size of the data file in pages after the commit
///     48    4 number of freed runs
///     52    4 0
///     56   32 record of the system tree after the commit
///     88      freed runs, 12 bytes each: 8 first page, 4 number of pages
///             changed pages, each:
///                8 page number
///                8 page it was copied from; 0: it started as zeros
///                8 birth of that page, so that an older version in its place is detected
///                4 number of pages of its run
///                4 number of ranges that differ; 0xFFFFFFFF: the whole content follows instead:
///                  4 length of the content in bytes, then the content
///                for each range: 2 offset, 2 length, then the bytes; if bit 15 of the length is set, instead of the bytes:
///                  2 offset in the original page to copy from; 0xFFFF: the bytes are zeros
/// </code>
/// </summary>
internal static class JournalPayload
{
    public const int HeadBytes = 88;
    public const int FreedRunBytes = 12;
    public const int PageHeadBytes = 32;
    public const uint WholePage = uint.MaxValue;

    /// <summary>
    /// The maximum number of bytes for one page: its header and the whole content (ranges are not used if they are longer).
    /// </summary>
    public const int MaxPageBytes = PageHeadBytes + sizeof(int) + PageLayout.SizeBytes + SlackBytes;

    public const int NextTreeIdOffset = 32;
    public const int ChangedPagesOffset = 36;
    public const int PageCountOffset = 40;
    public const int FreedRunsOffset = 48;
    public const int SystemOffset = 56;

    /// <summary>
    /// Offsets in the header of a page: the birth of the page it was copied from, the pages of its run, and the number of
    /// ranges.
    /// </summary>
    public const int FromBirthOffset = 16;
    public const int RunOffset = 24;

    private const int RangesOffset = 28;

    /// <summary>The offset and length of a range.</summary>
    public const int RangeHeadBytes = 4;

    /// <summary>Flag in the length of a range: the bytes are copied from the original page.</summary>
    public const int MovedFlag = 0x8000;

    /// <summary>In place of the offset in the original page: the bytes are zeros.</summary>
    public const ushort Zeros = ushort.MaxValue;

    /// <summary>If at least this many bytes differ, check whether most of them have only moved.</summary>
    private const int MovedFromBytes = 512;

    private const int WordBytes = 8;
    private const int PageWords = PageLayout.SizeBytes / WordBytes;
    private const int SlackBytes = 64;

    private static readonly ulong[] _zeroPage = new ulong[PageWords];

    /// <summary>Writes the header, without the number of changed pages, which is not known yet.</summary>
    public static void WriteHead(
        Span<byte> destination, TreeRecord catalogue, TreeRecord system, uint nextTreeId, long pageCount, int freedRuns)
    {
        Debug.Assert(freedRuns >= 0 && pageCount >= FormatLimits.FirstDataPage, "a state has its meta pages");
        destination[..HeadBytes].Clear();
        catalogue.Write(destination);
        system.Write(destination[SystemOffset..]);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[NextTreeIdOffset..], nextTreeId);
        BinaryPrimitives.WriteInt64LittleEndian(destination[PageCountOffset..], pageCount);
        BinaryPrimitives.WriteInt32LittleEndian(destination[FreedRunsOffset..], freedRuns);
    }

    /// <summary>Writes a freed run after the header.</summary>
    public static void WriteFreed(Span<byte> destination, int index, PageRun run)
    {
        Debug.Assert(run.First >= FormatLimits.FirstDataPage && run.Pages > 0, "a freed run has data pages");
        Span<byte> place = destination[(HeadBytes + (index * FreedRunBytes))..];
        BinaryPrimitives.WriteInt64LittleEndian(place, run.First);
        BinaryPrimitives.WriteInt32LittleEndian(place[8..], run.Pages);
    }

    /// <summary>
    /// Writes the ranges in which a page differs from its original (null: zeros). Returns the number of bytes written. Equal
    /// stretches shorter than two words are included: starting a new range costs as much.
    /// </summary>
    /// <param name="destination">The destination, with space for <see cref="MaxPageBytes"/>.</param>
    /// <param name="number">The number of the page.</param>
    /// <param name="from">The number of the original page, or 0.</param>
    /// <param name="page">The page.</param>
    /// <param name="original">The original page, or empty.</param>
    /// <param name="changed">The lines that may differ.</param>
    public static int WritePage(
        Span<byte> destination, long number, long from, ReadOnlySpan<byte> page, ReadOnlySpan<byte> original, LineSet changed)
    {
        Debug.Assert(from == 0 == original.IsEmpty, "a page was copied from another, or from zeros");
        Debug.Assert(page.Length == PageLayout.SizeBytes, "a single page is written in ranges");
        WritePageHead(
            destination, number, from,
            original.IsEmpty ? 0 : BinaryPrimitives.ReadInt64LittleEndian(original[PageLayout.BirthOffset..]), 1);
        Span<ulong> different = stackalloc ulong[PageWords / 64];
        ReadOnlySpan<ulong> words = MemoryMarshal.Cast<byte, ulong>(page);
        ReadOnlySpan<ulong> before = original.IsEmpty ? _zeroPage : MemoryMarshal.Cast<byte, ulong>(original);
        WordDifference.Find(words, before, changed, different);
        WordDifference.FillSingleGaps(different);
        if (changed.IsAll && !original.IsEmpty && WordDifference.Count(different) * WordBytes >= MovedFromBytes)
        {
            var moved = new PageMoves.RangeList(destination[PageHeadBytes..]);
            if (PageMoves.TryWrite(ref moved, page, original, different))
            {
                BinaryPrimitives.WriteInt32LittleEndian(destination[RangesOffset..], moved.Count);
                return PageHeadBytes + moved.LengthBytes;
            }
        }

        int indexEnd = original.IsEmpty ? 0 : PageMoves.IndexEnd(page);
        var ranges = new PageMoves.RangeList(destination[PageHeadBytes..]);
        for (int start = 0; (start = WordDifference.Next(different, start, isSet: true)) < PageWords;)
        {
            int end = WordDifference.Next(different, start, isSet: false);

            // The comparison is by word, the output by byte: equal bytes at both ends are left out.
            int first = (start * WordBytes) + (BitOperations.TrailingZeroCount(words[start] ^ before[start]) / 8);
            int last = (end * WordBytes) - (BitOperations.LeadingZeroCount(words[end - 1] ^ before[end - 1]) / 8);
            if (first < indexEnd)
                PageShifts.Write(ref ranges, page, original, first, last, indexEnd);
            else
                ranges.AddBytes(first, page[first..last]);
            start = end;
        }

        if (!ranges.IsShort)
            return WriteWhole(destination, number, page, 1);

        Debug.Assert(PageHeadBytes + ranges.LengthBytes <= MaxPageBytes, "a page adds no more than there is room for");
        BinaryPrimitives.WriteInt32LittleEndian(destination[RangesOffset..], ranges.Count);
        return PageHeadBytes + ranges.LengthBytes;
    }

    /// <summary>Returns the maximum number of bytes for a page or run of which only some lines may differ.</summary>
    public static long MostPageBytes(LineSet changed, int pages) => pages > 1
        ? PageHeadBytes + sizeof(int) + ((long)pages * PageLayout.SizeBytes)
        // A whole line is longer than any of its parts with their range headers.
        : Math.Min(MaxPageBytes, PageHeadBytes + ((LineSet.LineBytes + RangeHeadBytes) * changed.Count));

    /// <summary>Writes the whole content of a page or run. Returns the number of bytes written.</summary>
    public static int WriteWhole(Span<byte> destination, long number, ReadOnlySpan<byte> content, int pages)
    {
        Debug.Assert(
            pages == PageLayout.RunPages(content.Length - PageLayout.HeaderBytes), "a run has the pages that its content needs");
        WritePageHead(destination, number, 0, 0, pages);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[RangesOffset..], WholePage);
        BinaryPrimitives.WriteInt32LittleEndian(destination[PageHeadBytes..], content.Length);
        content.CopyTo(destination[(PageHeadBytes + sizeof(int))..]);
        return PageHeadBytes + sizeof(int) + content.Length;
    }

    /// <summary>
    /// Returns the fault of a payload whose hash is right, or null. If there is none, <see cref="Apply"/> and readers of the
    /// payload stay within it and within the pages it refers to. Checks only headers, not the content.
    /// </summary>
    public static string? FindFault(ReadOnlySpan<byte> payload)
    {
        if (payload.Length < HeadBytes)
            return $"its payload has {payload.Length} bytes";

        var content = new JournalContent(payload);
        int pages = content.ChangedPages, freed = content.FreedRuns;
        long pageCount = content.PageCount;
        if (TreeRecord.FindFault(payload[..TreeRecord.SizeBytes]) is { } fault)
            return $"its catalogue has {fault}";
        if (TreeRecord.FindFault(payload.Slice(SystemOffset, TreeRecord.SizeBytes)) is { } systemFault)
            return $"its system tree has {systemFault}";
        if (pages < 0
            || freed < 0
            || pageCount < FormatLimits.FirstDataPage
            || (long)freed * FreedRunBytes > payload.Length - HeadBytes)
            return $"it speaks of {pages} pages changed, {freed} freed and {pageCount} in use";

        for (int i = 0; i < freed; i++)
            if (content.Freed(i) is var run && !IsInside(run, pageCount))
                return $"it frees pages from {run.First} on, of {pageCount}";

        ReadOnlySpan<byte> rest = content.FirstChanged;
        for (int i = 0; i < pages; i++)
        {
            if (FindPageFault(rest, pageCount, out int length) is { } what)
                return what;
            rest = rest[length..];
        }

        return rest.IsEmpty ? null : $"{rest.Length} bytes follow its {pages} pages";
    }

    /// <summary>
    /// Applies the output of <see cref="WritePage"/> or <see cref="WriteWhole"/> to a page or run that holds its original.
    /// Returns the number of bytes read.
    /// </summary>
    public static int Apply(ReadOnlySpan<byte> source, Span<byte> page)
    {
        uint ranges = BinaryPrimitives.ReadUInt32LittleEndian(source[RangesOffset..]);
        int length = PageHeadBytes;
        if (ranges == WholePage)
        {
            int bytes = BinaryPrimitives.ReadInt32LittleEndian(source[length..]);
            source.Slice(length + sizeof(int), bytes).CopyTo(page);
            return length + sizeof(int) + bytes;
        }

        Span<byte> original = HasMoves(source, ranges) ? stackalloc byte[PageLayout.SizeBytes] : default;
        page[..original.Length].CopyTo(original);
        for (uint i = 0; i < ranges; i++)
        {
            int offset = BinaryPrimitives.ReadUInt16LittleEndian(source[length..]);
            int info = BinaryPrimitives.ReadUInt16LittleEndian(source[(length + 2)..]);
            int bytes = info & ~MovedFlag;
            length += RangeHeadBytes;
            if (info == bytes)
            {
                source.Slice(length, bytes).CopyTo(page[offset..]);
                length += bytes;
                continue;
            }

            int from = BinaryPrimitives.ReadUInt16LittleEndian(source[length..]);
            if (from == Zeros)
                page.Slice(offset, bytes).Clear();
            else
                original.Slice(from, bytes).CopyTo(page[offset..]);
            length += sizeof(ushort);
        }

        return length;
    }

    private static bool HasMoves(ReadOnlySpan<byte> source, uint ranges)
    {
        int length = PageHeadBytes;
        for (uint i = 0; i < ranges; i++)
        {
            int info = BinaryPrimitives.ReadUInt16LittleEndian(source[(length + 2)..]);
            if ((info & MovedFlag) != 0)
                return true;
            length += RangeHeadBytes + info;
        }

        return false;
    }

    private static string? FindPageFault(ReadOnlySpan<byte> source, long pageCount, out int length)
    {
        length = PageHeadBytes;
        if (source.Length < PageHeadBytes)
            return "it ends inside the head of a page";

        var page = new ChangedPage(source);
        (long number, int run) = page.Run;
        long from = page.From;
        uint ranges = BinaryPrimitives.ReadUInt32LittleEndian(source[RangesOffset..]);
        if (!IsInside(page.Run, pageCount) || (from != 0 && !IsInside(new PageRun(from, 1), pageCount)))
            return $"it changes {run} pages from {number} on, copied from {from}, of {pageCount}";

        if (ranges == WholePage)
        {
            int bytes = source.Length < length + sizeof(int) ? -1 : BinaryPrimitives.ReadInt32LittleEndian(source[length..]);
            if (bytes < PageLayout.HeaderBytes
                || bytes > source.Length - length - sizeof(int)
                || run != PageLayout.RunPages(bytes - PageLayout.HeaderBytes))
                return $"page {number} and those of its run ({run}) have {bytes} bytes";
            length += sizeof(int) + bytes;
            return null;
        }

        if (run != 1)
            return $"page {number} begins a run of {run} in ranges";
        for (uint i = 0; i < ranges; i++)
        {
            if (source.Length - length < RangeHeadBytes)
                return $"it ends inside page {number}";

            int offset = BinaryPrimitives.ReadUInt16LittleEndian(source[length..]);
            int info = BinaryPrimitives.ReadUInt16LittleEndian(source[(length + 2)..]);
            int bytes = info & ~MovedFlag;
            int place = length + RangeHeadBytes;
            length = place + (info == bytes ? bytes : sizeof(ushort));
            if (offset + bytes > PageLayout.SizeBytes || length > source.Length)
                return $"page {number} changes {bytes} bytes at {offset}";
            if (info != bytes
                && BinaryPrimitives.ReadUInt16LittleEndian(source[place..]) is var moved
                && moved != Zeros
                && (from == 0 || moved + bytes > PageLayout.SizeBytes))
                return $"page {number} takes {bytes} bytes at {moved} of page {from}";
        }

        return null;
    }

    private static bool IsInside(PageRun run, long pageCount) =>
        run.First >= FormatLimits.FirstDataPage && run.Pages > 0 && run.First <= pageCount - run.Pages;

    private static void WritePageHead(Span<byte> destination, long number, long from, long fromBirth, int pages)
    {
        Debug.Assert(
            number >= FormatLimits.FirstDataPage && number != from && pages > 0,
            "a frame has data pages only, none copied from itself");
        BinaryPrimitives.WriteInt64LittleEndian(destination, number);
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], from);
        BinaryPrimitives.WriteInt64LittleEndian(destination[FromBirthOffset..], fromBirth);
        BinaryPrimitives.WriteInt32LittleEndian(destination[RunOffset..], pages);
    }
}
