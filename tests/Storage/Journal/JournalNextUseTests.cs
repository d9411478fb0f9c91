using Treepie.Storage.Format;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests.Journal;

/// <summary>
/// The block at the end of a journal file that announces the next use. Its record lies in one sector, which alone decides whether
/// there is one.
/// </summary>
public sealed class JournalNextUseTests
{
    private static readonly JournalNextUse _record = new(Salt: 11, Use: 22, FirstFrame: 33, PreviousHash: 44);

    [Fact]
    public void A_block_whose_sectors_behind_the_record_are_garbage_is_read_as_if_they_were_zeros()
    {
        for (int offset = PendingWrite.SectorBytes; offset < JournalNextUse.BlockBytes; offset += PendingWrite.SectorBytes)
        {
            byte[] block = Write(_record);
            block.AsSpan(offset, PendingWrite.SectorBytes).Fill(0xA5);
            Assert.True(JournalNextUse.TryRead(block, out JournalNextUse read), $"The sector at {offset} was looked at.");
            Assert.Equal(_record, read);
            Assert.Equal(-1, block.AsSpan(PendingWrite.SectorBytes).IndexOfAnyExcept((byte)0));
        }
    }

    [Fact]
    public void A_block_of_which_only_the_first_sector_arrived_over_another_use_is_the_new_one()
    {
        byte[] later = Write(_record with { Use = 23 }), block = Write(_record);
        block.AsSpan(PendingWrite.SectorBytes).Fill(0x5A); // what an earlier loss of power left there
        later.AsSpan(0, PendingWrite.SectorBytes).CopyTo(block);
        Assert.True(JournalNextUse.TryRead(block, out JournalNextUse read));
        Assert.Equal(23, read.Use);
    }

    [Fact]
    public void A_block_with_any_bit_of_its_record_changed_is_none()
    {
        for (int bit = 0; bit < 48 * 8; bit++)
        {
            byte[] block = Write(_record);
            block[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.False(JournalNextUse.TryRead(block, out _), $"Bit {bit} was not noticed.");
        }
    }

    private static byte[] Write(JournalNextUse record)
    {
        var block = new byte[JournalNextUse.BlockBytes];
        record.Write(block);
        return block;
    }
}
