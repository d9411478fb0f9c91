using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

/// <summary>
/// Shared code of tests on simulated disks: an environment so small that it changes files often, and runs that report how to
/// repeat a failure.
/// </summary>
internal static class SmallDisk
{
    public static readonly StorageOptions Options = new()
    {
        MaxDataFileBytes = 64 << 20,
        FirstReserveBytes = 256 << 10,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 64 << 10,
    };

    /// <summary>Runs with consecutive seeds; the first is <c>TREEPIE_SEED</c> or random.</summary>
    /// <exception cref="InvalidOperationException">A run failed; the message names its seed.</exception>
    public static void Repeat(int runs, Action<int> run)
    {
        int first = Seed.Next();
        for (int i = 0; i < runs; i++)
        {
            int seed = unchecked(first + i);
            try
            {
                run(seed);
            }
            catch (Exception error) when (error is not OperationCanceledException)
            {
                throw new InvalidOperationException($"Run it again with TREEPIE_SEED={seed}.", error);
            }
        }
    }
}
