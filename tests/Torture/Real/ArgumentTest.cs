namespace Treepie.Torture.Real;

/// <summary>A test of the low half of an argument of a system call.</summary>
/// <param name="Argument">Which argument, from 0.</param>
/// <param name="Mask">The bits that are compared.</param>
/// <param name="Value">What they are compared with.</param>
/// <param name="IsEqual">Whether they must be equal; otherwise, whether they must differ.</param>
internal readonly record struct ArgumentTest(int Argument, uint Mask, uint Value, bool IsEqual = true);
