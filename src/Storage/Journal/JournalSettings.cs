using Treepie.Storage.Encryption;

namespace Treepie.Storage.Journal;

/// <summary>What a journal needs from its environment.</summary>
internal sealed class JournalSettings
{
    public required Guid StoreId { get; init; }

    public required JournalSizes Sizes { get; init; }

    /// <summary>Draws a random number for each use of a file.</summary>
    public required Func<ulong> DrawSalt { get; init; }

    /// <summary>Runs work that no commit waits for; runs it at once if there are no other threads.</summary>
    public required Action<Action> Background { get; init; }

    /// <summary>Makes the data file durable in the state found by recovery.</summary>
    public required Action MakeDataDurable { get; init; }

    /// <summary>Wall clock for the timestamps of frames.</summary>
    public required TimeProvider Clock { get; init; }

    /// <summary>Clock for timing the sync methods; null to time none and write through the system's cache.</summary>
    public TimeProvider? ProbeClock { get; init; }

    /// <summary>Encrypts frames; null if the store is not encrypted.</summary>
    public StoreCipher? Cipher { get; init; }
}
