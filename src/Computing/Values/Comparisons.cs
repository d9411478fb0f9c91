using System.Runtime.CompilerServices;

namespace Treepie.Computing.Values;

/// <summary>
/// Limits how many parts of values a run compares and hashes. A value can hold another many times, so that few steps make one
/// with more parts than could ever be visited, or one nested deeper than the stack. Each thread has one run at a time.
/// </summary>
internal static class Comparisons
{
    /// <summary>The maximum number of parts: some hundred milliseconds.</summary>
    public const int MaxParts = 10_000_000;

    /// <summary>How many characters count as one part.</summary>
    private const int CharactersPerPart = 32;

    [ThreadStatic]
    private static long _parts;

    /// <summary>Begins a run on this thread.</summary>
    public static void Begin() => _parts = 0;

    /// <summary>Counts parts that are about to be compared or hashed.</summary>
    public static void Count(long parts)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        if ((_parts += parts) > MaxParts)
            throw new ComputingException($"it compares more than {MaxParts:N0} parts of values.");
    }

    /// <summary>Counts characters that are about to be compared or hashed; short texts cost nothing.</summary>
    public static void Characters(int count)
    {
        if (count >= CharactersPerPart)
            Count(count / CharactersPerPart);
    }
}
