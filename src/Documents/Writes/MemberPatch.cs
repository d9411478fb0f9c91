using System.Buffers;
using Treepie.Computations;

namespace Treepie.Writes;

/// <summary>A patch that is made of changes of single values, and needs nobody who compiles scripts.</summary>
internal sealed class MemberPatch(IReadOnlyList<MemberEdit> edits) : Script
{
    /// <inheritdoc/>
    public override void Call(
        string function, in ScriptCall call, IScriptHost host, IBufferWriter<byte> output, CancellationToken cancellationToken)
    {
        ReadOnlyMemory<byte> document = call.This;
        foreach (MemberEdit edit in edits)
            document = edit.Apply(document);
        output.Write(document.Span);
    }
}
