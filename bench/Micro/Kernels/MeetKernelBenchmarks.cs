using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;
using Treepie.Indexing.Kernels;

namespace Treepie.Bench.Micro.Kernels;

/// <summary>Time to merge the directories of two lists with a few entries in each window, down to where they may meet.</summary>
public class MeetKernelBenchmarks
{
    private const int WindowsOfSegment = 256;
    private const int Windows = 192;

    private readonly uint[] _one = new uint[Windows];
    private readonly uint[] _other = new uint[Windows];
    private byte[] _onePayloads = [];
    private byte[] _otherPayloads = [];

    /// <summary>Entries that each list has in a window.</summary>
    [Params(2, 8)]
    public int PerWindow { get; set; }

    [GlobalSetup]
    public void Draw()
    {
        _onePayloads = Draw(1, _one);
        _otherPayloads = Draw(2, _other);
    }

    [Benchmark]
    public int Next()
    {
        WindowRun one = new(_one, _onePayloads), other = new(_other, _otherPayloads);
        int found = 0;
        for (int i = 0, j = 0; MeetKernels.Next(one, ref i, other, ref j, apart: 0); i++, j++)
            found++;
        return found;
    }

    /// <summary>Finds all common windows, with and without a common entry.</summary>
    [Benchmark]
    public int NextScalar()
    {
        WindowRun one = new(_one, _onePayloads), other = new(_other, _otherPayloads);
        int found = 0;
        for (int i = 0, j = 0; MeetKernels.NextScalar(one, ref i, other, ref j, apart: 0); i++, j++)
            found++;
        return found;
    }

    /// <summary>Writes a directory as narrow segments have it (window, count - 1, start); returns the offsets it is of.</summary>
    private byte[] Draw(int seed, Span<uint> directory)
    {
        int[] windows = [.. Enumerable.Range(0, WindowsOfSegment)];
        new Random(seed).Shuffle(windows);
        Array.Sort(windows, 0, Windows);
        var payloads = new List<ushort>();
        for (int i = 0; i < Windows; i++)
        {
            directory[i] = (uint)(windows[i] | ((PerWindow - 1) << 8) | (payloads.Count * sizeof(ushort) << 16));
            payloads.AddRange(Sorted.Offsets(PerWindow, (seed * WindowsOfSegment) + i));
        }

        return MemoryMarshal.AsBytes(CollectionsMarshal.AsSpan(payloads)).ToArray();
    }
}
