using System.Buffers;
using Treepie.Computations;

namespace Treepie.Writes;

/// <summary>A patch that changes single values and needs no script engine.</summary>
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
