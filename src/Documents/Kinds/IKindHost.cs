using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>The operations available to a command on related data inside its transaction.</summary>
internal interface IKindHost
{
    /// <summary>The related data of all kinds.</summary>
    KindWriter Kinds { get; }

    /// <summary>The time of the batch (UTC ticks).</summary>
    long NowTicks { get; }

    ChangeVectors ChangeVectors { get; }

    /// <summary>Returns a new etag for the next change.</summary>
    long NextEtag();

    /// <summary>Gets the document with a folded id; valid until the next change.</summary>
    bool TryGet(scoped ReadOnlySpan<byte> foldedId, out DocumentRecord record);

    /// <summary>Gives a document a new etag and updated flags, because the names of its related data have changed.</summary>
    void Touch(ReadOnlySpan<byte> foldedId);

    /// <summary>Same as <see cref="Touch"/>, but without a revision: the document's last revisions were just deleted.</summary>
    void TouchUnrevised(ReadOnlySpan<byte> foldedId);

    /// <summary>Same as <see cref="Touch"/>, with a revision regardless of the revisions configuration.</summary>
    void AddRevision(ReadOnlySpan<byte> foldedId);
}
