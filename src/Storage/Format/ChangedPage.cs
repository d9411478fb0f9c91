using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// A view of a changed page or run of pages in the payload of a frame, at the start of the source (see
/// <see cref="JournalPayload"/>).
/// </summary>
internal readonly ref struct ChangedPage(ReadOnlySpan<byte> source)
{
    private readonly ReadOnlySpan<byte> _source = source;

    public long Number => BinaryPrimitives.ReadInt64LittleEndian(_source);

    /// <summary>The page it was copied from, or 0 if it started as zeros.</summary>
    public long From => BinaryPrimitives.ReadInt64LittleEndian(_source[8..]);

    /// <summary>The birth of the page it was copied from.</summary>
    public long FromBirth => BinaryPrimitives.ReadInt64LittleEndian(_source[JournalPayload.FromBirthOffset..]);

    public PageRun Run => new(Number, BinaryPrimitives.ReadInt32LittleEndian(_source[JournalPayload.RunOffset..]));

    /// <summary>
    /// Returns the fault of the rebuilt page, or null. Verifies that it has this number, the birth of its frame and the
    /// expected number of pages, and that no offset leads outside the page.
    /// </summary>
    public string? FindFault(Span<byte> made, long birth)
    {
        var page = new Page(made);
        int pages = page.Type == PageType.Overflow ? PageLayout.RunPages(page.ValueLength) : 1;
        return page.Number == Number && page.Birth == birth && pages == Run.Pages
            ? PageShape.FindFault(made)
            : $"page {page.Number} and {pages - 1} more, born {page.Birth}, of type {page.Type}";
    }
}
