using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;
using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

/// <summary>
/// Both forms of going along the windows of two lists, against sets: every window with something in common is stopped at, and no
/// other than those that both have.
/// </summary>
public sealed class MeetKernelsTests
{
    [Fact]
    public void Every_window_with_an_entry_in_common_is_stopped_at_whatever_lies_behind_entries()
    {
        var random = new Random(Seed.Next());
        long common = 0, passed = 0;
        for (int round = 0; round < 400; round++)
        {
            int most = new[] { 4, 10, 20, 140 }[random.Next(4)],
                range = new[] { 30, 300, 4_096 }[random.Next(3)],
                apart = random.Next(-20, 21);
            SortedDictionary<int, ushort[]> one = Windows(random, most, range), other = Windows(random, most, range);
            (uint[] ofOne, byte[] oneBytes) = Encode(random, one);
            (uint[] ofOther, byte[] otherBytes) = Encode(random, other);
            int[] both = [.. one.Keys.Where(window => other.ContainsKey(window - apart))];
            int[] meeting = [.. both.Where(window => one[window].Intersect(other[window - apart]).Any())];
            List<int> found = [], scalar = [];
            Go(MeetKernels.Next, found);
            Go(MeetKernels.NextScalar, scalar);
            Assert.Equal(both, scalar);
            Assert.Empty(meeting.Except(found));
            Assert.Empty(found.Except(both));
            (common, passed) = (common + meeting.Length, passed + both.Length - found.Count);

            void Go(Step next, List<int> stops)
            {
                for (int i = 0, j = 0;
                     next(new WindowRun(ofOne, oneBytes), ref i, new WindowRun(ofOther, otherBytes), ref j, apart);
                     i++, j++)
                {
                    stops.Add((byte)ofOne[i]);
                    Assert.Equal((byte)ofOne[i], (byte)ofOther[j] + apart);
                }
            }
        }

        // Only the vector form passes windows.
        Assert.True(
            common > 1_000 && (Avx2.IsSupported ? passed > 1_000 : passed == 0),
            $"{common} windows have something in common, {passed} were passed.");
    }

    private delegate bool Step(in WindowRun one, ref int oneAt, in WindowRun other, ref int otherAt, int apart);

    private static SortedDictionary<int, ushort[]> Windows(Random random, int most, int range)
    {
        var windows = new SortedDictionary<int, ushort[]>();
        int share = random.Next(1, 4);
        for (int window = random.Next(3); window <= byte.MaxValue; window += random.Next(1, share + 1))
            windows.Add(
                window,
                [.. Enumerable.Range(0, random.Next(1, most)).Select(_ => (ushort)random.Next(range)).Distinct().Order()]);
        return windows;
    }

    /// <summary>Entries, and behind those of each window some bytes of other things.</summary>
    private static (uint[] Directory, byte[] Payloads) Encode(Random random, SortedDictionary<int, ushort[]> windows)
    {
        var directory = new List<uint>();
        var payloads = new List<byte>();
        foreach ((int window, ushort[] entries) in windows)
        {
            directory.Add((uint)window | ((uint)(entries.Length - 1) << 8) | ((uint)payloads.Count << 16));
            payloads.AddRange(MemoryMarshal.AsBytes<ushort>(entries));
            payloads.AddRange(Enumerable.Range(0, random.Next(4)).Select(_ => (byte)random.Next(256)));
        }

        return ([.. directory], [.. payloads]);
    }
}
