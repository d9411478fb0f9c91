using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>Collects pages in frames. Consecutive pages form one stretch.</summary>
internal sealed class StretchWriter(BackupPartWriter writer)
{
    private int _filled;
    private int _stretch;
    private long _next = -1;

    /// <summary>The number of pages that still fit into the frame.</summary>
    public int RoomPages => (PartFormat.MaxContentBytes - _filled - PartFormat.StretchBytes) / PageLayout.SizeBytes;

    /// <summary>Returns the buffer for consecutive pages, at most <see cref="RoomPages"/>.</summary>
    public Span<byte> Take(long first, int pages)
    {
        Debug.Assert(pages > 0 && pages <= RoomPages, "there is room for the pages and the head of a stretch");
        if (first != _next || _filled == 0)
        {
            _stretch = _filled;
            BinaryPrimitives.WriteInt64LittleEndian(writer.Content[_filled..], first);
            BinaryPrimitives.WriteInt64LittleEndian(writer.Content[(_filled + sizeof(long))..], 0);
            _filled += PartFormat.StretchBytes;
        }

        Span<byte> count = writer.Content.Slice(_stretch + sizeof(long), sizeof(int));
        BinaryPrimitives.WriteInt32LittleEndian(count, BinaryPrimitives.ReadInt32LittleEndian(count) + pages);
        Span<byte> room = writer.Content.Slice(_filled, pages * PageLayout.SizeBytes);
        _filled += room.Length;
        _next = first + pages;
        return room;
    }

    /// <summary>Writes the frame unless it is empty.</summary>
    public async ValueTask FlushAsync(CancellationToken cancellationToken)
    {
        if (_filled == 0)
            return;

        int length = _filled;
        _filled = 0;
        await writer.WriteAsync(PartFrameKind.Pages, length, cancellationToken).ConfigureAwait(false);
    }
}
