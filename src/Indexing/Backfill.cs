namespace Treepie.Indexing;

/// <summary>Fields added to an index that already had entries, and the progress of adding their values to these.</summary>
/// <param name="FirstField">The first of the fields.</param>
/// <param name="EndField">The field after the last.</param>
/// <param name="Etag">The etag up to which entries have the fields.</param>
public readonly record struct Backfill(int FirstField, int EndField, long Etag);
