namespace Treepie.Storage.Simulation;

/// <summary>A call that fails.</summary>
/// <param name="Kind">Of this kind.</param>
/// <param name="Number">The n-th of its kind, counted from 0.</param>
/// <param name="IsForever">All later ones of the kind fail too.</param>
/// <param name="MarksClean">
/// A failed sync forgets what was to be written, as Linux does: it stays readable until the power fails, later syncs succeed
/// without writing it, and what the disk has of it then is anybody's guess.
/// </param>
/// <param name="OfData">Of the data file only, and counted there; of all other files only; null: of any.</param>
/// <param name="KillAfter">So many changes of the disk after the first failure the process is killed; below 0: it is not.</param>
internal sealed record DiskFault(
    DiskOperation Kind, int Number, bool IsForever, bool MarksClean = true, bool? OfData = null, int KillAfter = -1)
{
    public override string ToString() =>
        $"{Kind}{OfData switch { true => " of the data file,", false => " of another file,", _ => "" }} number {Number} "
            + $"fails{(IsForever ? ", and all later ones" : "")}"
            + $"{(Kind == DiskOperation.Sync && MarksClean ? " (and forgets what was dirty)" : "")}"
            + $"{(KillAfter < 0 ? "" : $", and {KillAfter} changes later the process is killed")}";
}
