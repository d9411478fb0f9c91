using Treepie.Lifecycle;

namespace Treepie;

/// <summary>
/// The members of a database record that only clients and tools use. They are kept among the settings of programs
/// (<see cref="Database.Settings"/>) under names of their own, and are members of the record again in dumps and on the wire.
/// </summary>
public static class RecordSettings
{
    /// <summary>The name of <c>Settings</c>: texts by key.</summary>
    public const string ByKey = "settings";

    /// <summary>The name of <c>Client</c>: the configuration of clients.</summary>
    public const string Client = "client-configuration";

    /// <summary>The name of <c>Studio</c>: the configuration of the studio.</summary>
    public const string Studio = "studio";

    /// <summary>The name of <c>RevisionsForConflicts</c>.</summary>
    public const string RevisionsForConflicts = "revisions-for-conflicts";

    /// <summary>The name of <c>ConflictSolverConfig</c>.</summary>
    public const string ConflictSolver = "conflict-solver";

    /// <summary>The members of the record, with the names under which they are kept.</summary>
    public static IReadOnlyList<(string Member, string Name)> All { get; } =
    [
        ("Settings", ByKey), ("Client", Client), ("Studio", Studio), ("RevisionsForConflicts", RevisionsForConflicts),
        ("ConflictSolverConfig", ConflictSolver),
    ];

    /// <summary>
    /// The members of the record that configure the tasks of <see cref="Database.Lifecycle"/>, with the member of each that is
    /// the seconds between two runs.
    /// </summary>
    public static IReadOnlyList<(LifecycleTask Task, string Member, string Frequency)> LifecycleTasks { get; } =
    [
        (LifecycleTask.Expiration, "Expiration", "DeleteFrequencyInSec"),
        (LifecycleTask.Refresh, "Refresh", "RefreshFrequencyInSec"),
        (LifecycleTask.Archival, "DataArchival", "ArchiveFrequencyInSec"),
    ];
}
