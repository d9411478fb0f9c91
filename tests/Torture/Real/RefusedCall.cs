namespace Treepie.Torture.Real;

/// <summary>A system call that is refused, with all arguments or only with some.</summary>
/// <param name="Name">The name of the call.</param>
/// <param name="Error">The error number.</param>
/// <param name="Only">What all must be true of its arguments.</param>
internal sealed record RefusedCall(string Name, int Error, params IReadOnlyList<ArgumentTest> Only);
