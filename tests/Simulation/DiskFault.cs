namespace Treepie.Storage.Simulation;

/// <summary>A call that fails.</summary>
/// <param name="Kind">Of this kind.</param>
/// <param name="Number">The n-th of its kind, counted from 0.</param>
/// <param name="IsForever">All later ones of the kind fail too.</param>
/// <param name="MarksClean">
/// A failed sync forgets what was to be written, as Linux does: it stays readable until the power fails, later syncs succeed without
/// writing it, and what the disk has of it then is anybody's guess.
/// </param>
internal sealed record DiskFault(DiskOperation Kind, int Number, bool IsForever, bool MarksClean = true)
{
    public override string ToString() =>
        $"{Kind} number {Number} fails{(IsForever ? ", and all later ones" : "")}{(Kind == DiskOperation.Sync && MarksClean ? " (and forgets what was dirty)" : "")}";
}
