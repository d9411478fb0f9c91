using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

internal enum StepKind
{
    /// <summary>One command.</summary>
    Write,

    /// <summary>A command that throws after making all its changes.</summary>
    Throw,

    /// <summary>Several commands that run as one merged batch.</summary>
    Merge,

    Checkpoint,

    /// <summary>Closes cleanly and reopens.</summary>
    Reopen,

    /// <summary>Opens a read transaction and keeps it in the slot given by the argument, closing a previous one.</summary>
    Hold,

    /// <summary>Closes a read transaction.</summary>
    LetGo,

    /// <summary>The power fails after this many further disk operations.</summary>
    Crash,

    /// <summary>The process is killed after this many further disk operations; the machine keeps running.</summary>
    Kill,

    /// <summary>Time passes.</summary>
    Pass,

    /// <summary>Reads values, and verifies their bytes in place after other steps.</summary>
    Look,

    /// <summary>An optimistic session reads and writes keys while other steps happen.</summary>
    Session,

    /// <summary>Shrinks the file.</summary>
    Shrink,

    /// <summary>Changes the user key.</summary>
    ChangeKey,

    /// <summary>Rotates the data key; canceled after this many steps if the argument is above 0.</summary>
    Rotate,

    /// <summary>Releases unused decrypted pages, this many times in a row.</summary>
    Sweep,

    /// <summary>Releases the pages read by a held reader.</summary>
    Release,
}

/// <summary>A step of a client.</summary>
internal sealed record Step(StepKind Kind, int Argument = 0)
{
    /// <summary>The commands; several for a merged batch.</summary>
    public IReadOnlyList<IReadOnlyList<Change>> Commands { get; init; } = [];

    /// <summary>Steps that run while values are read or a session is open.</summary>
    public IReadOnlyList<Step> Meanwhile { get; init; } = [];

    public static Step Write(params Change[] changes) => new(StepKind.Write) { Commands = [changes] };

    public static Step Throw(params Change[] changes) => new(StepKind.Throw) { Commands = [changes] };

    public override string ToString() => Kind switch
    {
        StepKind.Write => "write: " + string.Join("; ", Commands[0]),
        StepKind.Throw => "write that throws: " + string.Join("; ", Commands[0]),
        StepKind.Merge => "merged batch: " + string.Join(" | ", Commands.Select(command => string.Join("; ", command))),
        StepKind.Look => "look at values, and meanwhile: " + string.Join("; then ", Meanwhile),
        StepKind.Session =>
            "session: " + string.Join("; ", Commands[0]) + "; and meanwhile: " + string.Join("; then ", Meanwhile),
        StepKind.Hold => $"open reader {Argument}",
        StepKind.LetGo => $"close reader {Argument}",
        StepKind.Crash => $"power will fail {Argument} disk operations from here",
        StepKind.Kill => $"the process will be killed {Argument} disk operations from here",
        StepKind.Pass => $"{Argument} ms pass",
        StepKind.ChangeKey => "change the user's key",
        StepKind.Rotate => Argument > 0 ? $"rotate the data key, cancelled after {Argument} steps" : "rotate the data key",
        StepKind.Sweep => $"sweep decrypted pages, {Argument} times",
        StepKind.Release => $"reader {Argument} releases its pages",
        _ => Kind.ToString().ToLowerInvariant(),
    };
}
