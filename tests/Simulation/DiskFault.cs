namespace Treepie.Storage.Simulation;

/// <summary>Describes the calls that fail.</summary>
/// <param name="Kind">Kind of the call.</param>
/// <param name="Number">Number of the call among those of its kind, from 0.</param>
/// <param name="IsForever">Whether all later calls of the kind fail too.</param>
/// <param name="MarksClean">
/// Whether a failed sync marks dirty data as clean, as Linux does: the data stays readable until the power fails, later syncs
/// succeed without writing it, and what the disk has of it is then undefined.
/// </param>
/// <param name="OfData">
/// True: only calls on the data file, counted separately. False: only calls on other files. Null: calls on any file.
/// </param>
/// <param name="KillAfter">Number of disk changes after the first failure at which the process is killed; below 0: never.</param>
/// <param name="IsFull">
/// Whether the call finds the disk full, as one of a file system that copies what is written can, whatever was allocated before.
/// </param>
internal sealed record DiskFault(
    DiskOperation Kind, int Number, bool IsForever, bool MarksClean = true, bool? OfData = null, int KillAfter = -1,
    bool IsFull = false)
{
    public override string ToString() =>
        $"{Kind}{OfData switch { true => " of the data file,", false => " of another file,", _ => "" }} number {Number} "
            + $"{(IsFull ? "finds the disk full" : "fails")}{(IsForever ? ", and all later ones" : "")}"
            + $"{(Kind == DiskOperation.Sync && MarksClean ? " (and forgets what was dirty)" : "")}"
            + $"{(KillAfter < 0 ? "" : $", and {KillAfter} changes later the process is killed")}";
}
