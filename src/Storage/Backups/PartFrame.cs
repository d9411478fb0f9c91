using System.Buffers.Binary;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>A view of a frame of a part, header and content (see <see cref="PartFormat"/>).</summary>
internal readonly ref struct PartFrame(Span<byte> frame)
{
    private const int ChecksumOffset = 16;

    private readonly Span<byte> _frame = frame;

    public PartFrameKind Kind => (PartFrameKind)BinaryPrimitives.ReadInt32LittleEndian(_frame);

    public int ContentBytes => BinaryPrimitives.ReadInt32LittleEndian(_frame[4..]);

    /// <summary>The number of the frame, from 0.</summary>
    public long Number => BinaryPrimitives.ReadInt64LittleEndian(_frame[8..]);

    public uint Checksum => BinaryPrimitives.ReadUInt32LittleEndian(_frame[ChecksumOffset..]);

    /// <summary>The mark of the part it belongs to.</summary>
    public uint Mark => BinaryPrimitives.ReadUInt32LittleEndian(_frame[20..]);

    /// <summary>Computes the checksum. The length must have been verified.</summary>
    public uint ComputeChecksum() =>
        ~Crc32C.Append(
            Crc32C.Append(uint.MaxValue, _frame[..ChecksumOffset]), _frame.Slice(PartFormat.FrameHeadBytes, ContentBytes));

    /// <summary>Writes the header of a frame whose content is already in place.</summary>
    public void WriteHead(PartFrameKind kind, int contentBytes, long number, uint mark)
    {
        BinaryPrimitives.WriteInt32LittleEndian(_frame, (int)kind);
        BinaryPrimitives.WriteInt32LittleEndian(_frame[4..], contentBytes);
        BinaryPrimitives.WriteInt64LittleEndian(_frame[8..], number);
        BinaryPrimitives.WriteUInt32LittleEndian(_frame[ChecksumOffset..], ComputeChecksum());
        BinaryPrimitives.WriteUInt32LittleEndian(_frame[20..], mark);
    }
}
