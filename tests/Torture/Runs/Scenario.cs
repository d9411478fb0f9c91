using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>All that a run follows from: the same scenario gives the same run.</summary>
internal sealed record Scenario
{
    /// <summary>Draws ids, salts, what crashes leave, and the order of clients.</summary>
    public required int Seed { get; init; }

    /// <summary>What each client does; one client runs without other threads.</summary>
    public required IReadOnlyList<IReadOnlyList<Step>> Clients { get; init; }

    /// <summary>The disk at the beginning.</summary>
    public DiskImage Start { get; init; } = DiskImage.Empty;

    /// <summary>What is on it.</summary>
    public Model StartModel { get; init; } = Model.Empty;

    /// <summary>Its last transaction.</summary>
    public long StartTransaction { get; init; }

    public StorageOptions Options { get; init; } = SmallOptions;

    /// <summary>Whether the environment is encrypted, with <see cref="UserKeys"/>.</summary>
    public bool IsEncrypted { get; init; }

    /// <summary>Whether maps show what is written, as on Linux.</summary>
    public bool MapsSeeWrites { get; init; }

    /// <summary>Whether checkpoints and the like run on threads of their own, which the seed interleaves.</summary>
    public bool HasThreads { get; init; }

    /// <summary>A call that fails.</summary>
    public DiskFault? Fault { get; init; }

    /// <summary>Room on the disk.</summary>
    public long CapacityBytes { get; init; } = long.MaxValue;

    /// <summary>The options with one of the users' keys, where the environment is encrypted.</summary>
    public StorageOptions OptionsWith(int key) => IsEncrypted ? Options with { EncryptionKey = UserKeys.Of(key) } : Options;

    /// <summary>Small, so that files change and checkpoints run all the time.</summary>
    public static StorageOptions SmallOptions { get; } = new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 64 << 10,
        DecryptedBudgetBytes = 1 << 20,
    };

    /// <summary>The scenario in lines.</summary>
    public IEnumerable<string> Tell()
    {
        yield return $"{Options.Durability}{(IsEncrypted ? " encrypted" : "")} environment, {(StartTransaction == 0 ? "new" : $"with {StartTransaction} transactions")}, maps {(MapsSeeWrites ? "see" : "do not see")} writes"
            + $"{(HasThreads ? ", with threads" : "")}{(CapacityBytes < long.MaxValue ? $", disk of {CapacityBytes} bytes" : "")}{(Fault is null ? "" : $", {Fault}")}";
        for (int client = 0; client < Clients.Count; client++)
            foreach (Step step in Clients[client])
                yield return Clients.Count == 1 ? $"  {step}" : $"  client {client}: {step}";
    }
}
