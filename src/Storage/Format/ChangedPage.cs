using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// A changed page, or run of pages, in the payload of a frame, at whose beginning this stands (see <see cref="JournalPayload"/>).
/// </summary>
internal readonly ref struct ChangedPage(ReadOnlySpan<byte> source)
{
    private readonly ReadOnlySpan<byte> _source = source;

    public long Number => BinaryPrimitives.ReadInt64LittleEndian(_source);

    /// <summary>The page it was copied from; 0: from zeros.</summary>
    public long From => BinaryPrimitives.ReadInt64LittleEndian(_source[8..]);

    /// <summary>Birth of the page it was copied from.</summary>
    public long FromBirth => BinaryPrimitives.ReadInt64LittleEndian(_source[JournalPayload.FromBirthOffset..]);

    public PageRun Run => new(Number, BinaryPrimitives.ReadInt32LittleEndian(_source[JournalPayload.RunOffset..]));

    /// <summary>
    /// What in the page that was made of it cannot be, or null: it has this number, the birth of its frame and the pages it
    /// should have, and nothing in it leads out of it.
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
