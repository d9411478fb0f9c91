namespace Treepie.Indexing.Catalogue;

/// <summary>Where a reader of an <see cref="EntryBlock"/> stands.</summary>
/// <param name="FirstId">The key of the block.</param>
/// <param name="Id">Id of its current entry.</param>
/// <param name="At">Offset of the next entry.</param>
/// <param name="KeyLength">Length of the key of the current entry.</param>
/// <param name="HeadsAt">Offset of the heads that apply.</param>
/// <param name="HeadsLength">Length of these heads.</param>
internal readonly record struct EntryPlace(long FirstId, long Id, int At, int KeyLength, int HeadsAt, int HeadsLength);
