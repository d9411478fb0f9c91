using Treepie.Storage.Encryption;

namespace Treepie.Storage.Journal;

/// <summary>What a journal needs to know of its environment.</summary>
internal sealed class JournalSettings
{
    public required Guid StoreId { get; init; }

    public required JournalSizes Sizes { get; init; }

    /// <summary>A random number for each use of a file.</summary>
    public required Func<ulong> DrawSalt { get; init; }

    /// <summary>Runs work that no commit waits for; at once, where there are no other threads.</summary>
    public required Action<Action> Background { get; init; }

    /// <summary>Makes the data file durable as recovery found it.</summary>
    public required Action MakeDataDurable { get; init; }

    /// <summary>Time of day, which frames are stamped with.</summary>
    public required TimeProvider Clock { get; init; }

    /// <summary>Times the ways to sync; null: none is tried, and the system's cache is used.</summary>
    public TimeProvider? ProbeClock { get; init; }

    /// <summary>What frames are encrypted with; null where the store is plain.</summary>
    public StoreCipher? Cipher { get; init; }
}
