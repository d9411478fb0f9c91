using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// A way of torturing, in numbered pieces that do not depend on each other: any thread may take the next one, and one repeats
/// alone.
/// </summary>
internal interface IMode
{
    /// <summary>What it is called on the command line and in the report.</summary>
    string Name { get; }

    /// <summary>Pieces there are, or <see cref="long.MaxValue"/> for as many as there are numbers.</summary>
    long Pieces { get; }

    /// <summary>Whether a piece is about an encrypted environment.</summary>
    bool IsEncrypted(long piece);

    /// <summary>Runs a piece. Throws <see cref="TortureFailure"/>, told and as short as can be.</summary>
    void Run(long piece, Tally tally);
}
