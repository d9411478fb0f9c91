using Treepie.Storage.Maps;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Maps;

public sealed class FrameArenaTests
{
    [Fact]
    public void Runs_never_overlap_and_small_ones_become_large_ones_again()
    {
        var random = new Random(Seed.Next());
        const int limit = 4096;
        using var arena = new FrameArena(limit * 8192L);
        var owner = new Dictionary<long, int>();
        var runs = new List<(uint First, int Frames)>();
        for (int i = 0; i < 20_000; i++)
        {
            if (runs.Count > 0 && random.Next(100) < (i % 2000 < 1000 ? 40 : 60))
            {
                int at = random.Next(runs.Count);
                (uint first, int frames) = runs[at];
                runs.RemoveAt(at);
                for (int frame = 0; frame < frames; frame++)
                    Assert.True(owner.Remove(first + frame));
                arena.Release(first, frames);
                continue;
            }

            int wanted = random.Next(4) == 0 ? random.Next(1, 60) : 1;
            uint given;
            try
            {
                given = arena.Allocate(wanted);
            }
            catch (StorageException)
            {
                continue;
            }

            for (int frame = 0; frame < wanted; frame++)
                Assert.True(owner.TryAdd(given + frame, i), $"frame {given + frame} was given out twice");
            Assert.True(given > 0 && given + wanted <= arena.ReadableFrames);
            runs.Add((given, wanted));
        }

        foreach ((uint first, int frames) in runs)
            arena.Release(first, frames);
        Assert.Equal(0, arena.BytesInUse);
        Assert.NotEqual(0u, arena.Allocate(1024));
    }
}
