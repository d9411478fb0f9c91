using System.Buffers.Binary;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Checks;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

/// <summary>
/// Every file of an environment truncated, replaced, of a newer format, or with a bit changed: a typed error or correct
/// data; never another result or exception. The short form tests samples; <c>TREEPIE_THOROUGH=1</c> tests every position.
/// </summary>
public sealed class BadInputTests
{
    private const int SectorBytes = 512;

    private static readonly WorkloadShape _shape = new() { Keys = 120, MaxSteps = 20, MaxValueBytes = 12_000, DropPerMille = 0 };

    private static bool IsThorough => Environment.GetEnvironmentVariable("TREEPIE_THOROUGH") == "1";

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_file_cut_off_anywhere_gives_a_typed_error_or_right_data(bool closesCleanly)
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly, _shape, commits: 30);
        int refused = 0;
        foreach (string file in store.Disk.List())
        {
            byte[] whole = store.Disk.Bytes(file);
            for (int length = 0;
                 length < whole.Length;
                 length += IsThorough
                     ? SectorBytes
                     : SectorBytes * (1 + random.Next(Math.Max(1, whole.Length / SectorBytes / 15))))
            {
                SimulatedDisk disk = store.Disk.Copy(random);
                disk.Replace(file, whole[..length]);
                refused += Probe.Run(store, disk, random, $"'{file}' cut off at {length}") ? 0 : 1;
            }
        }

        Assert.True(refused > 0, "Some of it is needed.");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_file_replaced_by_another_store_s_by_zeros_or_by_random_bytes_gives_a_typed_error_or_right_data(
        bool closesCleanly)
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly, _shape, commits: 30),
            other = BuiltStore.Build(random, closesCleanly, _shape, commits: 20);
        foreach (string file in store.Disk.List())
        {
            int length = store.Disk.Bytes(file).Length;
            var noise = new byte[length];
            random.NextBytes(noise);
            Replace(file, new byte[length], "zeros");
            Replace(file, noise, "random bytes");
            foreach (string foreign in other.Disk.List())
                Replace(file, [.. other.Disk.Bytes(foreign)], $"'{foreign}' of another store");
            foreach (string own in store.Disk.List())
                Replace(file, [.. store.Disk.Bytes(own)], $"its own '{own}'");
        }

        void Replace(string file, byte[] bytes, string by)
        {
            SimulatedDisk disk = store.Disk.Copy(random);
            disk.Replace(file, bytes);
            Probe.Run(store, disk, random, $"'{file}' replaced by {by}");
        }
    }

    [Fact]
    public void A_newer_format_is_refused_by_name_and_nothing_is_written()
    {
        var random = new Random(5);
        BuiltStore store = BuiltStore.Build(random, closesCleanly: false, _shape, commits: 10);
        foreach (string file in store.Disk.List())
        {
            SimulatedDisk disk = store.With(random, file, bytes =>
            {
                if (file == BuiltStore.DataFile)
                {
                    SetVersion(bytes, 0, 2);
                    SetVersion(bytes, 1, 2);
                    return;
                }

                BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(8), 2);
                bytes.AsSpan(64, 8).Clear();
                BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(64), FrameHash.Compute(bytes.AsSpan(0, 4096)));
            });
            if (file != BuiltStore.DataFile && !store.Disk.Bytes(file).AsSpan(0, 8).SequenceEqual("TPJRNFIL"u8))
                continue; // a spare that was never used

            ForeignDataException error = Assert.Throws<ForeignDataException>(() => BuiltStore.Open(disk, random));
            Assert.Contains(file, error.Message, StringComparison.Ordinal);
            Assert.Equal(0, disk.Operations);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_bit_changed_anywhere_is_detected_or_does_no_harm(bool closesCleanly)
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly, _shape with { Keys = 60 }, commits: 20);
        int detected = 0;
        foreach (string file in store.Disk.List())
        {
            byte[] whole = store.Disk.Bytes(file);
            int end = whole.AsSpan().LastIndexOfAnyExcept((byte)0) + 1;
            for (int at = 0; at < end; at += IsThorough ? 1 : 1 + random.Next(2 * Math.Max(1, end / 150)))
            {
                byte bit = (byte)(1 << random.Next(8));
                SimulatedDisk disk = store.With(random, file, bytes => bytes[at] ^= bit);
                detected += Probe.Run(store, disk, random, $"bit {bit:x2} of byte {at} of '{file}' changed") ? 0 : 1;
            }
        }

        Assert.True(detected > 0, "Some of it is needed.");
    }

    [Fact]
    public void Numbers_that_claim_terabytes_are_refused_before_anything_is_allocated()
    {
        var random = new Random(6);
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, _shape, commits: 10);
        foreach ((
            int offset,
            int size) in ((int, int)[])[(112, 8), (120, 8), (136, 8), (168, 8), (192, 8), (200, 8), (208, 4), (212, 4)])
        {
            foreach (long value in (long[])[long.MaxValue, long.MinValue, -1, 1L << 40, int.MaxValue, int.MinValue])
            {
                SimulatedDisk disk = store.With(random, BuiltStore.DataFile, bytes =>
                {
                    for (int slot = 0; slot < 2; slot++)
                        BuiltStore.ForgeMeta(bytes, slot, offset, value, size);
                });
                long before = GC.GetAllocatedBytesForCurrentThread();
                Probe.Survive(disk, random, $"{value} at {offset} of both meta pages");
                Assert.True(
                    GC.GetAllocatedBytesForCurrentThread() - before < 64 << 20,
                    $"{value} at {offset} of the meta pages makes the store allocate.");
            }
        }
    }

    /// <summary>Changes the format version of a meta page.</summary>
    internal static void SetVersion(byte[] file, int slot, int version) =>
        BuiltStore.ForgeMeta(file, slot, offset: 72, version, sizeBytes: 4);
}
