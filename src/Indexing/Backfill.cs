namespace Treepie.Indexing;

/// <summary>Fields that an index was given when it had entries already, and how far these have them.</summary>
/// <param name="FirstField">The first of the fields.</param>
/// <param name="EndField">The field behind the last.</param>
/// <param name="Etag">Entries up to this etag have the fields.</param>
public readonly record struct Backfill(int FirstField, int EndField, long Etag);
