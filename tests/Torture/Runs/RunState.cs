using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>What the parts of a run share: the disk, the environment on it, and what is known of both.</summary>
internal sealed class RunState(Scenario scenario, SimulatedDisk disk, History history, List<string>? story)
{
    public Scenario Scenario => scenario;

    public SimulatedDisk Disk => disk;

    public History History => history;

    /// <summary>What happens, in lines, or null where nobody asks.</summary>
    public List<string>? Story => story;

    /// <summary>The environment, or null while it is closed.</summary>
    public StorageEnvironment? Environment { get; set; }

    /// <summary>The last transaction that must survive.</summary>
    public long Acknowledged { get; set; } = scenario.StartTransaction;

    /// <summary>
    /// The last one that the last recovery found: until something is built upon it, it may be in the system's cache alone.
    /// </summary>
    public long Recovered { get; set; } = -1;

    /// <summary>Whether calls fail on purpose.</summary>
    public bool IsFaulty { get; set; } = scenario.Fault is not null;

    /// <summary>
    /// The users' keys that may open what is on the disk: the one in force, and behind it those that a change which did not come
    /// to its end, or one that a killed process had made, may have left.
    /// </summary>
    public IReadOnlyList<int> Keys { get; set; } = [0];

    /// <summary>The environment, where a step has made sure that it is open.</summary>
    public StorageEnvironment Open => Environment ?? throw new InvalidOperationException("The environment is closed.");
}
