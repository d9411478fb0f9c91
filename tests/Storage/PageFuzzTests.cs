using System.Buffers.Binary;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Checks;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

/// <summary>
/// Pages and frames that someone forged or a bug of ours wrote: changed where they describe positions, with a corrected
/// checksum, so that the code that reads them is tested and not the checksum. The result must be a typed error or any data;
/// never another exception, a crash or an endless loop.
/// </summary>
public sealed class PageFuzzTests
{
    private const int ShortRounds = 260;
    private const int ThoroughRounds = 40_000;

    private static readonly WorkloadShape _shape = new() { Keys = 400, MaxSteps = 60, MaxValueBytes = 20_000, DropPerMille = 0 };

    private static int Rounds => Environment.GetEnvironmentVariable("TREEPIE_THOROUGH") == "1" ? ThoroughRounds : ShortRounds;

    [Fact]
    public void A_page_with_any_header_and_content_and_a_right_checksum_is_survived()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, _shape, commits: 40);
        long[] pages = [0, 1, .. store.Pages().Select(page => page.Number).Where(number => number > 1)];
        for (int round = 0; round < Rounds; round++)
        {
            var draw = new Random(unchecked(seed + round));
            long number = pages[draw.Next(pages.Length)];
            SimulatedDisk disk = store.With(random, BuiltStore.DataFile, bytes =>
            {
                for (int changes = 1 + draw.Next(3); changes > 0; changes--)
                    Change(bytes, number, draw);
                Seal(bytes, number);
            });
            Probe.Survive(disk, random, $"page {number}, round {round}, TREEPIE_SEED={seed}");
        }
    }

    [Fact]
    public void A_frame_with_any_payload_and_a_right_hash_is_survived()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        BuiltStore store = BuiltStore.Build(random, closesCleanly: false, _shape, commits: 40);
        (string File, int Offset)[] frames =
            [.. store.Disk.List().Where(name => name.StartsWith("journal-", StringComparison.Ordinal)).SelectMany(Frames)];
        Assert.NotEmpty(frames);
        for (int round = 0; round < Rounds; round++)
        {
            var draw = new Random(unchecked(seed + round));
            (string file, int offset) = frames[draw.Next(frames.Length)];
            SimulatedDisk disk = store.With(random, file, bytes =>
            {
                int length = FrameHeader.SizeBytes + BinaryPrimitives.ReadInt32LittleEndian(bytes.AsSpan(offset + 48));
                for (int changes = 1 + draw.Next(3); changes > 0; changes--)
                    WriteOdd(
                        bytes.AsSpan(offset + 24 + draw.Next(Math.Min(length - 32, draw.Next(2) == 0 ? 200 : length - 32)), 8),
                        draw);
                length = Math.Clamp(
                    FrameHeader.SizeBytes + (long)BinaryPrimitives.ReadInt32LittleEndian(bytes.AsSpan(offset + 48)),
                    FrameHeader.SizeBytes, bytes.Length - offset) is var now ? (int)now : length;
                bytes.AsSpan(offset + FrameHeader.HashOffset, 8).Clear();
                BinaryPrimitives.WriteUInt64LittleEndian(
                    bytes.AsSpan(offset + FrameHeader.HashOffset), FrameHash.Compute(bytes.AsSpan(offset, length)));
            });
            Probe.Survive(disk, random, $"frame at {offset} of '{file}', round {round}, TREEPIE_SEED={seed}");
        }

        IEnumerable<(string File, int Offset)> Frames(string name)
        {
            byte[] bytes = store.Disk.Bytes(name);
            for (int offset = 4096; offset + 4096 <= bytes.Length; offset += 4096)
                if (bytes.AsSpan(offset, 8).SequenceEqual("TPJFRAME"u8))
                    yield return (name, offset);
        }
    }

    private static void Change(byte[] file, long number, Random draw)
    {
        Span<byte> page = file.AsSpan((int)number * BuiltStore.PageBytes, BuiltStore.PageBytes);
        int count = Math.Max(1, (int)BinaryPrimitives.ReadUInt16LittleEndian(page[22..]));
        int slots = Math.Min(8000, 64 + ((count + 7) / 8 * 8 * 4));
        switch (draw.Next(6))
        {
            case 0: // the header, except its page number and checksum
                WriteOdd(page.Slice(8 + draw.Next(20), 8), draw);
                break;
            case 1: // fields of a meta page, or the beginning of a bitmap or directory
                WriteOdd(page.Slice(96 + draw.Next(170), 8), draw);
                break;
            case 2: // a slot
                BinaryPrimitives.WriteUInt16LittleEndian(
                    page[Math.Min(8190, slots + (2 * draw.Next(count)))..], (ushort)Odd(draw));
                break;
            case 3: // the lengths in a cell
                int cell = Math.Min(
                    8188, (int)BinaryPrimitives.ReadUInt16LittleEndian(page[Math.Min(8190, slots + (2 * draw.Next(count)))..]));
                BinaryPrimitives.WriteUInt16LittleEndian(page[(cell + (2 * draw.Next(2)))..], (ushort)Odd(draw));
                break;
            case 4: // a reference, or any other eight bytes of the heap
                WriteOdd(page.Slice(draw.Next(8184), 8), draw);
                break;
            default: // another page of the file under this number
                file.AsSpan(draw.Next(file.Length / BuiltStore.PageBytes) * BuiltStore.PageBytes, BuiltStore.PageBytes)
                    .CopyTo(page);
                break;
        }

        BinaryPrimitives.WriteInt64LittleEndian(page, number);
    }

    private static void Seal(byte[] file, long number)
    {
        Span<byte> bytes = file.AsSpan((int)number * BuiltStore.PageBytes, BuiltStore.PageBytes);
        var page = new Page(bytes);
        int length = page.ValueLength;
        bool isRun = page.Type == PageType.Overflow
            && length >= 0
            && length < file.Length - (number * BuiltStore.PageBytes) - PageLayout.HeaderBytes;
        page.Checksum = Page.ComputeChecksum(
            isRun ? file.AsSpan((int)number * BuiltStore.PageBytes, PageLayout.HeaderBytes + length) : bytes);
    }

    private static void WriteOdd(Span<byte> place, Random draw)
    {
        int size = 1 << draw.Next(4);
        Span<byte> value = stackalloc byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(value, Odd(draw));
        value[..size].CopyTo(place);
    }

    /// <summary>Numbers that may cause arithmetic errors, and ordinary ones.</summary>
    private static long Odd(Random draw) => draw.Next(9) switch
    {
        0 => 0,
        1 => -1,
        2 => draw.Next(300),
        3 => 8190 + draw.Next(5),
        4 => (1L << draw.Next(63)) - draw.Next(3),
        5 => long.MinValue,
        6 => int.MaxValue,
        7 => ushort.MaxValue,
        _ => draw.NextInt64(),
    };
}
