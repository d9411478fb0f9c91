using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>State shared by the parts of a run: the disk, the environment on it, and the expected content.</summary>
internal sealed class RunState(Scenario scenario, SimulatedDisk disk, History history, List<string>? story)
{
    public Scenario Scenario => scenario;

    public SimulatedDisk Disk => disk;

    public History History => history;

    /// <summary>Log of events, or null if not requested.</summary>
    public List<string>? Story => story;

    /// <summary>The environment, or null while it is closed.</summary>
    public StorageEnvironment? Environment { get; set; }

    /// <summary>The last transaction that must survive.</summary>
    public long Acknowledged { get; set; } = scenario.StartTransaction;

    /// <summary>
    /// The last transaction found by the last recovery. Until something is built on it, it may be in the system's cache only.
    /// </summary>
    public long Recovered { get; set; } = -1;

    /// <summary>Whether calls are made to fail.</summary>
    public bool IsFaulty { get; set; } = scenario.Fault is not null;

    /// <summary>
    /// The user keys that may open the disk: the current one first, then those that an incomplete change, or a change by a
    /// killed process, may have left.
    /// </summary>
    public IReadOnlyList<int> Keys { get; set; } = [0];

    /// <summary>The environment, when a step has ensured that it is open.</summary>
    public StorageEnvironment Open => Environment ?? throw new InvalidOperationException("The environment is closed.");
}
